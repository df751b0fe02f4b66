-- Prints the body of a URL by lua-http, with no settings of its own.
local request = require("http.request").new_from_uri(arg[1])
local headers, stream = assert(request:go(60))
if headers:get(":status") ~= "200" then error(headers:get(":status")) end
io.stdout:write(assert(stream:get_body_as_string(60)))
