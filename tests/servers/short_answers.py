"""Answers of one to five words. Many look like what stands beside answers: names, times, states, labels of buttons."""

from __future__ import annotations

__all__ = ["SHORT"]

SHORT = (
    *("Yes", "No", "Yes.", "No.", "OK", "Okay!", "True", "None", "Oui", "Nein", "はい", "👍"),
    *("5", "42", "1999", "3.14", "1/2", "3/4", "2/3 cup", "5 min", "2 hours ago", "12:30", "12:30 PM", "9 am"),
    *("Today", "Tomorrow", "Yesterday", "Monday", "March 5", "2026-11-21", "21/11/2026", "Just now"),
    *("Paris", "Paris.", "Berlin, Germany", "Marie Curie", "Robin", "Mary Jane 3", "東京", "Robin 10:42"),
    *("GPT-4", "Claude", "llama3:latest", "Bot", "Assistant", "AI", "Support", "You", "Me", "User"),
    *("Copy", "Copied!", "Edit", "Share", "Like", "Retry", "Sending", "Sent", "Seen", "Read", "Delivered"),
    *("Error", "Helpful", "Fin · AI Agent · Just now"),
)
