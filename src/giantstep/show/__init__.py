"""Records in, renderables out: tables, plots, the page of claims."""
