"""What a person sees: tables, trees and data, for the terminal, for files and for notebooks."""
