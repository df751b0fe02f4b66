internal import CassetteModel
internal import TapeBytes

/// The validators of a recorded representation, against which the preconditions of another request are evaluated (RFC 9110, 13.1).
struct AnswerValidators: Sendable, Hashable {
    static let none = AnswerValidators()

    /// A hash of the entity tag with its quotes, if it is strong; nil otherwise.
    private var strongTag: UInt64?
    /// A hash of the entity tag, weak or strong, without `W/`; nil if it is not known.
    private var tag: UInt64?
    private var modified: Timestamp?

    private init() {}

    init(_ interaction: Interaction) {
        guard let response = interaction.response else { return }
        if let tag = response.headers.first("etag") {
            self.tag = Self.hash(Self.opaque(tag))
            if tag.hasPrefix("\"") { self.strongTag = self.tag }
        } else if response.status == 304, case let asked = Self.tags(interaction.request.headers.values("if-none-match")), asked.count == 1
        {
            // A 304 confirms the tag that the client named.
            self.tag = asked.first == "*" ? nil : asked.first.map { Self.hash(Self.opaque($0)) }
        }
        self.modified = response.headers.first("last-modified").flatMap { WrittenDate($0)?.time }
    }

    private static func hash(_ tag: String) -> UInt64 {
        var tag = tag
        let isMarked = tag.withUTF8 { MatchMark.isIn(UnsafeRawBufferPointer($0)) }
        return isMarked ? RequestProfile.anything : RequestProfile.hash(tag)
    }

    private static func opaque(_ tag: String) -> String { tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag }

    /// The members of a list of entity tags, whose quoted parts may contain commas (RFC 9110, 8.8.3).
    private static func tags(_ values: [String]) -> [String] {
        var tags: [String] = []
        for value in values {
            var isQuoted = false
            var tag = ""
            for character in value {
                if character == "\"" { isQuoted.toggle() }
                if isQuoted || character != "," && character != " " && character != "\t" {
                    tag.append(character)
                } else if character == "," {
                    tags.append(tag)
                    tag = ""
                }
            }
            tags.append(tag)
        }
        return tags.filter { !$0.isEmpty }
    }

    /// Whether `If-Match` holds: it is `*`, or contains the representation's strong tag (RFC 9110, 13.1.1).
    func fulfils(ifMatch: [String]) -> Bool {
        let members = Self.tags(ifMatch)
        if members == ["*"] { return true }
        guard let strongTag else { return false }
        return strongTag == RequestProfile.anything || members.contains { Self.hash($0) == strongTag }
    }

    /// Whether `If-None-Match` names the representation, so that a 304 answers it. It must be `*`, or contain the representation's tag,
    /// weak or strong (RFC 9110, 13.1.2).
    func isNamed(byIfNoneMatch values: [String]) -> Bool {
        let members = Self.tags(values)
        if members == ["*"] { return true }
        guard let tag else { return false }
        return tag == RequestProfile.anything || members.contains { Self.hash(Self.opaque($0)) == tag }
    }

    /// Whether `If-Unmodified-Since` holds. It is ignored if it is not a date, or if the representation has no date (RFC 9110, 13.1.4).
    func fulfils(ifUnmodifiedSince: String) -> Bool {
        guard let modified, let date = WrittenDate(ifUnmodifiedSince)?.time else { return true }
        return modified <= date
    }
}
