"""Schedules for playing an audit again: for cron, systemd and GitHub Actions."""
