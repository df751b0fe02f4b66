/// What differs from one recording to the next without meaning anything.
public enum VolatileFields {
    /// Header fields, in lower case: of time, of the request's own number, of who happened to serve it, and those that follow from the body.
    static let names: Set<String> = [
        "date", "age", "server-timing", "x-runtime", "x-response-time", "x-request-id", "request-id", "x-requestid", "x-correlation-id",
        "x-trace-id", "x-b3-traceid", "x-b3-spanid", "x-b3-parentspanid", "x-b3-sampled", "traceparent", "tracestate", "b3",
        "uber-trace-id",
        "x-cloud-trace-context", "x-amzn-trace-id", "x-amzn-requestid", "x-amz-request-id", "x-amz-id-2", "x-amz-cf-id", "x-amz-cf-pop",
        "x-github-request-id", "cf-ray", "cf-cache-status", "x-served-by", "x-timer", "x-cache", "x-cache-hits", "x-vercel-id",
        "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-used", "ratelimit-remaining", "ratelimit-reset", "ratelimit", "expires",
        "keep-alive", "content-length", "content-md5", "digest", "content-digest", "repr-digest",
    ]

    static func contains(_ name: String) -> Bool { self.names.contains(name) }
}
