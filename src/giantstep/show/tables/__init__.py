"""Records as tables for people; no formula lives here."""
