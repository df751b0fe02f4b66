#!/usr/bin/env escript
%% Prints the body of a URL by httpc, with no settings of its own but the check of certificates.
main([Url]) ->
    [{ok, _} = application:ensure_all_started(Name) || Name <- [inets, ssl]],
    Trust = case os:getenv("SSL_CERT_FILE") of
        false -> [{verify, verify_none}];
        File -> [{verify, verify_peer}, {cacertfile, File}]
    end,
    {ok, {{_, 200, _}, _, Body}} = httpc:request(get, {Url, []}, [{ssl, Trust}], [{body_format, binary}]),
    ok = io:setopts(standard_io, [{encoding, latin1}]),
    ok = file:write(standard_io, Body).
