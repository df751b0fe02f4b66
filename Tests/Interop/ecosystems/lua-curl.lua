-- Prints the body of a URL by Lua-cURL, with no settings of its own.
local curl = require("lcurl")
local easy = curl.easy({ url = arg[1], failonerror = true, writefunction = function(text) io.stdout:write(text) return #text end })
easy:perform()
easy:close()
