/// One thing that a check of a cassette has found.
public struct CareFinding: Sendable, Hashable {
    public enum Kind: String, Sendable, Hashable {
        /// The file is torn: exchanges are lost.
        case torn
        /// An exchange that is not as the format says.
        case malformed
        /// Two exchanges with one id.
        case duplicateID = "duplicate-id"
        /// A sidecar or a raw slice that is missing, or not what its digest says.
        case damagedBody = "damaged-body"
        /// Octets that are not the recorded ones any more, by size or digest: the content was edited, or cannot be coded as it was.
        case changedBody = "changed-body"
        /// A body that was kept raw and has no readable form yet.
        case undeveloped
        /// A file in the folder of bodies that nobody names.
        case unusedFile = "unused-file"
        /// The folder of bodies could not be judged, since a cassette beside this one cannot be read.
        case unjudged
    }

    public var kind: Kind
    /// The number in order of the file, from 1; nil where no exchange is concerned.
    public var exchange: Int?
    /// As in the file, where it can be read.
    public var id: Int?
    /// `request` or `response`, where a body is concerned.
    public var message: String?
    /// The file concerned, relative to the cassette's folder.
    public var file: String?
    /// What was found, with what it concerns, and what to do next.
    public var text: String

    public init(_ kind: Kind, exchange: Int? = nil, id: Int? = nil, message: String? = nil, file: String? = nil, text: String) {
        self.kind = kind
        self.exchange = exchange
        self.id = id
        self.message = message
        self.file = file
        self.text = text
    }

    /// Whether a replay could go wrong by it; else it is worth knowing.
    public var isProblem: Bool {
        switch self.kind {
        case .torn, .malformed, .duplicateID, .damagedBody, .changedBody: true
        case .undeveloped, .unusedFile, .unjudged: false
        }
    }
}
