internal import CassetteModel

/// The properties of a gRPC call that are in the request head (gRPC over HTTP2, "Requests").
public struct GRPCCall: Sendable, Hashable {
    /// A timeout of more than these milliseconds, a month, counts as no timeout.
    private static let longest = 2_592_000_000.0

    /// The request's Content-Type, which the answer uses too.
    public let contentType: String
    /// Milliseconds that the client waits for the call's end; nil if it waits forever, or sends a value that servers do not accept.
    public let timeout: Double?

    /// nil if it is not a gRPC call, which requires HTTP/2.
    public init?(_ head: RequestHead) {
        guard head.version.major >= 2, GRPCType(head.fields) != nil else { return nil }
        self.contentType = head.fields.first("content-type") ?? "application/grpc"
        let timeout = head.fields.firstIndex(of: "grpc-timeout").flatMap { Self.milliseconds(head.fields.valueBytes(at: $0)) }
        self.timeout = timeout.flatMap { $0 <= Self.longest ? $0 : nil }
    }

    /// The value of a `grpc-timeout` field: one to eight digits and a unit, one of `H`, `M`, `S`, `m`, `u` and `n`.
    public static func milliseconds(_ field: ArraySlice<UInt8>) -> Double? {
        let digits = field.dropLast()
        guard (1...8).contains(digits.count), digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        let number = Double(digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) })
        return switch field.last {
        case UInt8(ascii: "H"): number * 3_600_000
        case UInt8(ascii: "M"): number * 60_000
        case UInt8(ascii: "S"): number * 1000
        case UInt8(ascii: "m"): number
        case UInt8(ascii: "u"): number / 1000
        case UInt8(ascii: "n"): number / 1_000_000
        default: nil
        }
    }
}
