internal import CassetteFormat
internal import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes

/// A place where a placeholder would replace a secret.
public struct RedactedPlace: Sendable, Hashable {
    /// The exchange's position in the file, from 1.
    public var exchange: Int
    /// `request url`, `request header authorization`, `response body`, `messages`
    public var place: String
    /// nil if it is in a body that is compressed or in a file.
    public var placeholder: String?
    /// Some of the text around it, with secrets replaced; empty without a placeholder.
    public var excerpt: String
}

extension RedactedPlace {
    /// Bytes of an excerpt before and after the placeholder.
    private static let margin = 40

    /// All places of one exchange.
    static func all(_ exchange: Int, _ old: Interaction, _ redacted: InteractionMaker.Redacted) -> [RedactedPlace] {
        let new = redacted.interaction
        var places: [RedactedPlace] = []
        func note(_ place: String, _ before: some Collection<UInt8>, _ after: some Collection<UInt8>) {
            guard !before.elementsEqual(after) else { return }
            places += self.places(exchange, place, Array(before), Array(after))
        }
        func note(_ side: String, _ before: HeaderFields, _ after: HeaderFields) {
            for index in 0..<min(before.count, after.count) {
                note("\(side) header \(before.name(at: index).lowercased())", before.line(at: index), after.line(at: index))
            }
        }
        note("request url", old.request.url.utf8, new.request.url.utf8)
        note("request", old.request.headers, new.request.headers)
        note("response", old.response?.headers ?? HeaderFields(), new.response?.headers ?? HeaderFields())
        note("response reason", old.response?.reason ?? [], new.response?.reason ?? [])
        let bodies = [
            ("request body", redacted.outcome.request.isBodyChanged, old.request.body, redacted.request),
            ("response body", redacted.outcome.response.isBodyChanged, old.response?.body, redacted.response),
        ]
        for (place, isChanged, before, after) in bodies where isChanged {
            guard case .memory(let bytes)? = after?.place else {
                places.append(RedactedPlace(exchange: exchange, place: place, placeholder: nil, excerpt: ""))
                continue
            }
            note(place, before?.content.inlineBytes ?? [], bytes)
        }
        if redacted.messages != nil { places.append(RedactedPlace(exchange: exchange, place: "messages", placeholder: nil, excerpt: "")) }
        if places.isEmpty { places.append(RedactedPlace(exchange: exchange, place: "elsewhere", placeholder: nil, excerpt: "")) }
        return places
    }

    /// The placeholders in the new text that are not in the old one.
    private static func places(_ exchange: Int, _ place: String, _ before: [UInt8], _ after: [UInt8]) -> [RedactedPlace] {
        var known: [Placeholder: Int] = [:]
        for (placeholder, _) in self.placeholders(in: before) { known[placeholder, default: 0] += 1 }
        var places: [RedactedPlace] = []
        for (placeholder, range) in self.placeholders(in: after) {
            if let count = known[placeholder], count > 0 {
                known[placeholder] = count - 1
                continue
            }
            let around = max(0, range.lowerBound - self.margin)..<min(after.count, range.upperBound + self.margin)
            places.append(
                RedactedPlace(
                    exchange: exchange, place: place, placeholder: placeholder.description,
                    excerpt: String(decoding: after[around], as: UTF8.self)))
        }
        guard places.isEmpty else { return places }
        return [RedactedPlace(exchange: exchange, place: place, placeholder: nil, excerpt: "")]
    }

    private static func placeholders(in text: [UInt8]) -> [(Placeholder, Range<Int>)] {
        text.withUnsafeBytes { text in
            var found: [(Placeholder, Range<Int>)] = []
            var offset = 0
            while offset < text.count {
                offset = ByteScan.index(of: UInt8(ascii: "{"), or: UInt8(ascii: "%"), in: text, from: offset)
                guard offset < text.count else { break }
                guard let spelled = Placeholder.spelled(in: text, at: offset) else {
                    offset += 1
                    continue
                }
                found.append((spelled.placeholder, offset..<offset + spelled.length))
                offset += spelled.length
            }
            return found
        }
    }
}
