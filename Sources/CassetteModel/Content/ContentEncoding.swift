/// What the Content-Encoding fields of a message say (RFC 9110, 8.4): a claim, which the octets may not keep.
public enum ContentEncoding: Sendable, Hashable {
    /// A coding that this library knows; whether this build takes it off, `isTakenOff` says.
    public enum Name: String, Sendable, Hashable, CaseIterable {
        case gzip
        /// The zlib format, or the raw one that some servers send in its place (RFC 9110, 8.4.1.2).
        case deflate
        /// RFC 7932
        case br
        /// RFC 8878
        case zstd
    }

    /// No coding, or `identity` alone.
    case none
    /// Codings in the order applied, all of which this build takes off.
    case coded([Name])
    /// A list with a coding that is not taken off, in words that are safe to print.
    case other(String)

    /// Nobody applies more; each is work when the body is taken apart.
    public static let limit = 8
    /// Of a longer list of codings only the beginning is shown.
    private static let printLimit = 64

    public init(_ headers: HeaderFields) {
        var names: [Name] = []
        var words = ""
        var isKnown = true
        for index in 0..<headers.count where headers.isNamed("content-encoding", at: index) {
            for part in headers.valueBytes(at: index).split(separator: UInt8(ascii: ",")) {
                let word = Self.word(part)
                guard !word.isEmpty, word != "identity" else { continue }
                if words.utf8.count < Self.printLimit { words += words.isEmpty ? word : ", " + word }
                guard let name = Self.name(word), name.isTakenOff, names.count < Self.limit else {
                    isKnown = false
                    continue
                }
                if isKnown { names.append(name) }
            }
        }
        if words.isEmpty {
            self = .none
        } else if isKnown {
            self = .coded(names)
        } else {
            self = .other(String(words.prefix(Self.printLimit)))
        }
    }

    /// The sentence on a body whose codings this build does not take off.
    package static func noteOfUnknown(_ words: String) -> String { "content coding \"\(words)\" is not taken off" }

    /// Whether a note says that and no more: a build that knows the coding has not looked at the body.
    static func isNoteOfUnknown(_ note: String) -> Bool {
        let parts = note.split(separator: "\"", omittingEmptySubsequences: false)
        return parts.count == 3 && note == self.noteOfUnknown(String(parts[1]))
    }

    private static func word(_ part: ArraySlice<UInt8>) -> String {
        let visible = part.lazy.filter { $0 > 32 && $0 < 127 }.map { $0 >= 65 && $0 <= 90 ? $0 | 32 : $0 }
        return String(decoding: Array(visible.prefix(Self.printLimit)), as: UTF8.self)
    }

    private static func name(_ word: String) -> Name? { word == "x-gzip" ? .gzip : Name(rawValue: word) }

    /// The extension of a file with the octets as sent.
    package var fileExtension: String? {
        switch self {
        case .none: nil
        case .coded(let names): names.last?.fileExtension
        case .other(let words): Name(rawValue: words)?.fileExtension
        }
    }
}

extension ContentEncoding.Name {
    /// br and zstd need a library of the system, which a package trait of the build asks for.
    public var isTakenOff: Bool {
        switch self {
        case .gzip, .deflate:
            return true
        case .br:
            #if Brotli
            return true
            #else
            return false
            #endif
        case .zstd:
            #if Zstandard
            return true
            #else
            return false
            #endif
        }
    }

    /// The extension under which tools know the format.
    package var fileExtension: String {
        switch self {
        case .gzip: "gz"
        case .deflate: "zz"
        case .br: "br"
        case .zstd: "zst"
        }
    }
}
