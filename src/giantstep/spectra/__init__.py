"""Bulk laws, Tracy-Widom edges, outlier detection."""
