"""Prints the body of a URL by libsoup 3, as programs of GNOME do, with no settings of its own."""
import sys

import gi

gi.require_version("Soup", "3.0")
from gi.repository import Soup

message = Soup.Message.new("GET", sys.argv[1])
body = Soup.Session().send_and_read(message, None)
if message.get_status() != 200:
    sys.exit(f"status {message.get_status()}")
sys.stdout.buffer.write(body.get_data())
