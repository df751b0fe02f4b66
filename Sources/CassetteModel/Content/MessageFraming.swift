/// How the messages of a body follow each other in gRPC, gRPC-Web and Connect: each after a byte of flags and its length ("Length-Prefixed-
/// Message" of gRPC over HTTP/2, "Enveloped-Message" of Connect).
package struct MessageFraming: Sendable {
    package let type: GRPCType
    /// The coding of messages with the flag 1, in lower case; nil if there is none.
    package let coding: String?
    /// The flag of a last message in text: the trailers of gRPC-Web, the end of a stream of Connect. 0 if there is none.
    private let end: UInt8

    private static let isCompressed: UInt8 = 1
    private static let (web, connect): (StaticString, StaticString) = ("application/grpc-web", "application/connect+")

    /// Nil for other bodies, among them gRPC-Web in base64.
    package init?(_ headers: HeaderFields) {
        guard let index = headers.firstIndex(of: "content-type") else { return nil }
        let value = headers.valueBytes(at: index)
        // Nearly all bodies have another type.
        if MediaType.begins(value, with: Self.web) {
            guard let type = GRPCType(suffix: MediaType(value).essence.dropFirst(Self.web.utf8CodeUnitCount)) else { return nil }
            (self.type, self.coding, self.end) = (type, GRPCType.coding(headers), 0x80)
        } else if MediaType.begins(value, with: Self.connect) {
            guard let type = GRPCType(suffix: MediaType(value).essence.dropFirst(Self.connect.utf8CodeUnitCount - 1)) else { return nil }
            (self.type, self.coding, self.end) = (type, GRPCType.coding(headers, field: "connect-content-encoding"), 2)
        } else {
            guard let type = GRPCType(headers) else { return nil }
            (self.type, self.coding, self.end) = (type, GRPCType.coding(headers), 0)
        }
    }

    /// Whether a message may begin with these flags.
    package func takes(_ flags: UInt8) -> Bool { flags & ~(Self.isCompressed | self.end) == 0 }

    /// Whether the message is text, whatever the type of the body.
    package func isEnd(_ flags: UInt8) -> Bool { flags & self.end != 0 }
}
