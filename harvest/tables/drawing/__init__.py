"""Charts as SVG, and trees as text, SVG, DOT and Mermaid."""
