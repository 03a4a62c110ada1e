"""Drawing trees: as text, as SVG pictures, as DOT and Mermaid."""
