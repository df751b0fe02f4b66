# Prints the body of a URL by httpc, with no settings of its own.
[url] = System.argv()
{:ok, _} = Application.ensure_all_started(:inets)
{:ok, _} = Application.ensure_all_started(:ssl)
{:ok, {{_, 200, _}, _, body}} = :httpc.request(:get, {to_charlist(url), []}, [], body_format: :binary)
:ok = :io.setopts(:standard_io, encoding: :latin1)
:ok = IO.binwrite(body)
