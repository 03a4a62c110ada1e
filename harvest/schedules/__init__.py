"""How an audit is played again by itself: what cron, systemd and GitHub Actions are given."""
