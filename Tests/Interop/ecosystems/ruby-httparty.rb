# Prints the body of a URL by HTTParty, with no settings of its own.
require "httparty"

answer = HTTParty.get(ARGV[0], format: :plain)
abort answer.code.to_s unless answer.success?
$stdout.binmode.write(answer.body)
