"""Text to functions: parser, syntax tree, exact algebra, sizes such as 4d."""
