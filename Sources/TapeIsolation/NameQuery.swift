internal import TapeBytes

/// A query to the resolver inside an isolation (RFC 1035), and the answers to it.
///
/// Strict: one question of class IN without compression. Knows no addresses and no sockets.
package struct NameQuery: Sendable, Hashable {
    /// What the query asks for.
    package enum Kind: Sendable, Hashable {
        case address4, address6
        /// Answered without a record.
        case other(UInt16)

        /// As it is usually written: `HTTPS`, `MX`, or `TYPE99`.
        package var name: String {
            switch self {
            case .address4: "A"
            case .address6: "AAAA"
            case .other(let number): Self.names[number] ?? "TYPE\(number)"
            }
        }

        private static let names: [UInt16: String] = [
            2: "NS", 5: "CNAME", 6: "SOA", 12: "PTR", 15: "MX", 16: "TXT", 33: "SRV", 35: "NAPTR", 64: "SVCB", 65: "HTTPS", 255: "ANY",
        ]
    }

    /// Why bytes are not a query that can be answered.
    package enum Problem: Error, Hashable {
        /// Too short, or an answer: nobody is answered.
        case noQuery
        /// Malformed (FORMERR), with the query's first two bytes.
        case malformed(id: [UInt8])
        /// Another operation than a query (NOTIMP), with the query's first two bytes.
        case notImplemented(id: [UInt8])

        /// Nil if nothing is to be sent.
        package var answer: [UInt8]? {
            switch self {
            case .noQuery: nil
            case .malformed(let id): id + [0x80, 1] + [UInt8](repeating: 0, count: 8)
            case .notImplemented(let id): id + [0x80, 4] + [UInt8](repeating: 0, count: 8)
            }
        }
    }

    /// The longest name with its dots, in bytes (RFC 1035, 2.3.4).
    private static let nameLimit = 253
    /// Seconds for which an answer may be kept: a run hands out its own addresses.
    private static let lifetime: UInt8 = 1

    /// In lower case and without the root's dot. Empty for the root.
    package let name: String
    package let kind: Kind
    private let id: [UInt8]
    private let wantsRecursion: Bool
    /// The question as it was asked, in whatever case.
    private let question: [UInt8]

    package init(_ bytes: some Collection<UInt8>) throws(Problem) {
        let bytes = Array(bytes)
        guard bytes.count >= 12, bytes[2] & 0x80 == 0 else { throw .noQuery }
        let id = Array(bytes[0..<2])
        guard bytes[2] & 0x78 == 0 else { throw .notImplemented(id: id) }
        // Exactly one question and no answer; additional records such as EDNS do not matter here.
        guard bytes[4...5].elementsEqual([0, 1]), bytes[6...9].allSatisfy({ $0 == 0 }) else { throw .malformed(id: id) }
        var labels: [String] = []
        var position = 12
        var size = 0
        while true {
            guard position < bytes.count else { throw .malformed(id: id) }
            let count = Int(bytes[position])
            position += 1
            guard count > 0 else { break }
            // A longer length is a pointer, which has nothing to point to in a question.
            guard count <= 63, position + count <= bytes.count else { throw .malformed(id: id) }
            let label = bytes[position..<position + count]
            position += count
            size += count + 1
            guard size <= Self.nameLimit + 1 else { throw .malformed(id: id) }
            labels.append(String(decoding: label.map(Self.lower), as: UTF8.self))
        }
        guard position + 4 <= bytes.count else { throw .malformed(id: id) }
        let (type, nameClass) = (UInt16(bytes[position]) << 8 | UInt16(bytes[position + 1]), bytes[position + 2...position + 3])
        guard nameClass.elementsEqual([0, 1]) else { throw .notImplemented(id: id) }
        self.id = id
        self.wantsRecursion = bytes[2] & 1 == 1
        self.question = Array(bytes[12..<position + 4])
        self.name = labels.joined(separator: ".")
        switch type {
        case 1: self.kind = .address4
        case 28: self.kind = .address6
        default: self.kind = .other(type)
        }
    }

    private static func lower(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
    }

    /// Whether the name can be a host's: letters, digits, hyphens and underscores in each label.
    package var isHostName: Bool {
        !self.name.isEmpty
            && self.name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    /// The answer with addresses of the kind that was asked for; without any, the name exists but has no such record.
    ///
    /// - Parameter addresses: 4 or 16 bytes each, as the kind says; at most 16 are used.
    package func answer(_ addresses: [[UInt8]]) -> [UInt8] {
        let records = addresses.prefix(16)
        var bytes = self.header(code: 0, count: UInt8(records.count))
        for address in records {
            // The name is that of the question, at offset 12.
            bytes += [0xC0, 12, 0, self.kind == .address4 ? 1 : 28, 0, 1, 0, 0, 0, Self.lifetime, 0, UInt8(address.count)] + address
        }
        return bytes
    }

    /// The answer that the server failed (SERVFAIL).
    package var failure: [UInt8] { self.header(code: 2, count: 0) }

    /// The answer that there is no such name (NXDOMAIN).
    package var notFound: [UInt8] { self.header(code: 3, count: 0) }

    private func header(code: UInt8, count: UInt8) -> [UInt8] {
        self.id + [0x80 | (self.wantsRecursion ? 1 : 0), 0x80 | code, 0, 1, 0, count, 0, 0, 0, 0] + self.question
    }
}
