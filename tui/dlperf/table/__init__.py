"""Results of a workspace as rows, and the database, columns and data frames made of them."""
