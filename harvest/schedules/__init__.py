"""Schedules that repeat an audit with cron, systemd or GitHub Actions."""
