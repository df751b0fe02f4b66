public import Foundation
public import TapeBytes

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPSession {
    /// The body as a JSON value (RFC 8259), exactly as written; `null` if there is none and none is required.
    ///
    /// `JSONValue.foundationObject` makes dictionaries and arrays of it.
    public struct JSONResponseSerializer: ResponseSerializer {
        public let dataPreprocessor: any DataPreprocessor
        public let emptyRequestMethods: Set<Method>
        public let emptyResponseCodes: Set<Int>

        public init(
            dataPreprocessor: any DataPreprocessor = .passthrough, emptyRequestMethods: Set<Method> = [.head],
            emptyResponseCodes: Set<Int> = [204, 205]
        ) {
            self.dataPreprocessor = dataPreprocessor
            self.emptyRequestMethods = emptyRequestMethods
            self.emptyResponseCodes = emptyResponseCodes
        }

        public func serialize(request: URLRequest?, response: Response?, data: Data?, error: (any Error)?) throws -> JSONValue {
            let data = try self.body(request: request, response: response, data: data, error: error)
            // RFC 8259, 8.1: parsers may ignore a byte order mark.
            let bytes = data.map { $0.starts(with: [0xEF, 0xBB, 0xBF]) ? [UInt8]($0.dropFirst(3)) : [UInt8]($0) } ?? Array("null".utf8)
            do {
                return try JSONDocument(bytes).root
            } catch {
                throw SerializationError(
                    .invalidJSON, "the body is not JSON at byte \(error.offset) in line \(error.line): \(error.reason); look at it as text",
                    cause: error)
            }
        }
    }
}

extension HTTPSession.DownloadResponseSerializer where Self == HTTPSession.JSONResponseSerializer {
    public static var json: HTTPSession.JSONResponseSerializer { HTTPSession.JSONResponseSerializer() }
}

extension JSONValue {
    /// `[String: Any]`, `[Any]`, `String`, `Int`, `Double`, `Decimal`, `Bool` or `NSNull`.
    ///
    /// The last of several members with the same name is used, as in other parsers. Whole numbers beyond `Int` and decimals that a `Double`
    /// cannot hold are `Decimal`s. A `Bool` is never a number here, nor a number a `Bool`, on any platform.
    public var foundationObject: Any {
        switch self.kind {
        case .object:
            var members: [String: Any] = [:]
            for member in self.members { members[member.name.text] = member.value.foundationObject }
            return members
        case .array: return self.elements.map(\.foundationObject)
        case .string: return self.text
        case .number: return self.int ?? self.number
        case .true: return true
        case .false: return false
        case .null: return NSNull()
        }
    }

    /// With replacement characters for unpaired surrogates, which a `String` cannot hold.
    private var text: String {
        if let string = self.string { return string }
        let list = try? JSONSerialization.jsonObject(with: Data(self.raw), options: .fragmentsAllowed)
        return list as? String ?? "\u{FFFD}"
    }

    private var number: Any {
        let spelling = String(decoding: self.raw, as: UTF8.self)
        let hasFraction = spelling.utf8.contains { ".eE".utf8.contains($0) }
        if !hasFraction, let decimal = Decimal(string: spelling) { return decimal }
        return self.double ?? Decimal(string: spelling) as Any? ?? NSNull()
    }
}
