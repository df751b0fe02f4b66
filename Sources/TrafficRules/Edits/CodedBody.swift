internal import CassetteFormat
package import CassetteModel

/// A body with its content codings removed, and what it takes to apply them again.
struct CodedBody {
    /// A longer body is not decoded and not edited.
    static let limit = InflateLimits.memoryOutput

    var content: [UInt8]
    /// In the order applied.
    let codings: [ContentCoding]

    /// Why a body stays as it is.
    struct Problem: Error {
        let reason: String
    }

    /// - Parameters:
    ///   - wire: the body as sent, without its transfer coding.
    ///   - limit: bytes of the content; a longer one is a problem.
    init(_ wire: [UInt8], _ headers: HeaderFields, limit: Int = Self.limit) throws(Problem) {
        switch ContentEncoding(headers) {
        case .none:
            guard wire.count <= limit else { throw Problem(reason: "the body is longer than \(limit >> 20) MiB") }
            self.content = wire
            self.codings = []
        case .other(let words): throw Problem(reason: "the content coding \"\(words)\" cannot be removed")
        case .coded(let names):
            guard let chain = DecoderChain(names, limits: InflateLimits(output: limit)) else {
                throw Problem(reason: "this build cannot remove the content coding")
            }
            var content: [UInt8] = []
            // Delivering never throws.
            let isTaken = (try? wire.withUnsafeBytes { try chain.push($0) { content.append(contentsOf: $0) } }) ?? false
            guard isTaken, chain.finish(), chain.found.allSatisfy({ $0.leftOver == 0 }) else {
                let name = chain.problem?.name ?? names[names.count - 1]
                let reason = chain.problem.map { ": \($0.problem)" } ?? ""
                throw Problem(reason: "the content coding \"\(name.rawValue)\" cannot be removed\(reason)")
            }
            self.content = content
            self.codings = chain.found.reversed().map { $0.coding(nil) }
        }
    }

    /// The content alone; nil if the codings cannot be removed.
    static func decoded(_ wire: [UInt8], _ headers: HeaderFields) -> [UInt8]? {
        (try? CodedBody(wire, headers))?.content
    }

    /// The content with its codings.
    var wire: [UInt8]? {
        guard !self.codings.isEmpty, let chain = try? EncoderChain(self.codings) else { return self.codings.isEmpty ? self.content : nil }
        var coded: [UInt8] = []
        do {
            try self.content.withUnsafeBytes { try chain.push($0) { coded.append(contentsOf: $0) } }
            try chain.finish { coded.append(contentsOf: $0) }
        } catch {
            return nil
        }
        return coded
    }
}

/// Tells which work on a body an event loop may do by itself.
package enum BodyWork {
    /// Bytes that are searched or edited within about a millisecond.
    private static let quick = 64 << 10

    /// Whether work on a body may take so long that the other connections of an event loop wait for it. A body with a content coding may
    /// decode to any size.
    ///
    /// - Parameter size: bytes as sent, without the transfer coding.
    package static func isLong(_ size: Int, _ headers: HeaderFields) -> Bool {
        size > self.quick || size > 0 && headers.contains("content-encoding")
    }
}
