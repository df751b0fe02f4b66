# Prints the body of a URL by Net::HTTP, with no settings of its own.
require "net/http"

answer = Net::HTTP.get_response(URI(ARGV[0]))
abort answer.code unless answer.is_a?(Net::HTTPSuccess)
$stdout.binmode.write(answer.body)
