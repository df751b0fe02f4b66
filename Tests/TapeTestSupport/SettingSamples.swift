/// Two values of each setting of a run, as text, in the form in which `wiretape config` shows them.
public enum SettingSamples {
    public static let texts: [String: (first: String, second: String)] = [
        "mode": ("all", "none"), "match": ("method,path", "url"), "presets": ("oauth", "graphql"), "ignore": ("query:a", "json:/b"),
        "patterns": ("query:t=[0-9]+", "header:x-a=.*"), "replace": ("json:/a=/b/c/", "json:/d=/e/f/"), "sort": ("json:/a", "json:/b"),
        "optional": ("json:/a", "form:b"), "descriptors": ("/a.pb", "/b"), "redact": ("header:x-a", "json:/b"), "keep": ("jwt", "query:b"),
        "secretEnv": ("KEY_A", "KEY_B"), "redaction": ("true", "false"), "repeat": ("last", "cycle"), "repeatMatching": ("~u a", "~m POST"),
        "order": ("strict", "any"), "conversation": ("any", "strict"), "ranges": ("exact", "computed"), "latency": ("recorded", "250ms"),
        "originErrors": ("page", "break"), "refreshDates": ("true", "false"), "refreshFields": ("json:/a", "json:/b"),
        "clock": ("recorded", "real"),
        "failOn": ("unused", "miss,unsearched"), "maxAge": ("1d", "2h"), "onExpired": ("fail", "warn"), "keepOnFailure": ("false", "true"),
        "review": ("true", "false"), "durability": ("full", "normal"), "onDiskFull": ("refuse", "pass"), "seed": ("7", "8"),
        "listen": ("127.0.0.1:7070", "[::1]:1"), "grace": ("0", "9"), "passthrough": ("a.test", "*.b.test"),
        "refuse": ("a.test", "b.test:443"),
        "upstreamCA": ("/a.pem", "/b.pem"), "insecureUpstream": ("a.test", "b.test"), "store": ("s3://bucket/a", "s3://bucket/b"),
        "endpoint": ("https://a.test", "https://b.test"), "region": ("eu-west-1", "us-east-1"), "pathStyle": ("true", "false"),
        "fetch": ("true", "false"), "maxExchanges": ("5", "7"),
    ]
}
