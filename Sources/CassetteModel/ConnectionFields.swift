/// Request header fields that describe the connection or the framing of a message, so that no replay compares them.
package enum ConnectionFields {
    /// In lower case.
    package static let names: [String] = [
        "host", "connection", "proxy-connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "expect",
        "content-length", "proxy-authorization", "grpc-timeout", "http2-settings", "sec-websocket-key", "sec-websocket-version",
        "sec-websocket-extensions",
    ]
}
