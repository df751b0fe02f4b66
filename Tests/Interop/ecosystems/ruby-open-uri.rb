# Prints the body of a URL by open-uri, with no settings of its own.
require "open-uri"

$stdout.binmode.write(URI.parse(ARGV[0]).open("rb", &:read))
