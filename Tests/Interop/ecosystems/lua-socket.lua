-- Prints the body of a URL by LuaSocket, or LuaSec over HTTPS, with no settings of its own.
local url = arg[1]
local client = require(url:match("^https:") and "ssl.https" or "socket.http")
local body, status = client.request(url)
if status ~= 200 then error(tostring(status)) end
io.stdout:write(body)
