"""What people and models judged, decided and wanted."""
