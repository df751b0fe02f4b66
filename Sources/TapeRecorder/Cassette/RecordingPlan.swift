public import CassetteModel
internal import CassetteRedaction
public import CassetteStore
public import TapeBytes

/// Which file is read and which is written, for a record mode.
///
/// Accesses no file.
public struct RecordingPlan: Sendable, Hashable {
    public enum Target: Sendable, Hashable {
        case nothing
        /// A new cassette under its own name.
        case create
        /// A new cassette that gets its name when it is closed: whoever finds the name finds all of it.
        case stage
        /// A new cassette beside the old one, which replaces it on a clean close.
        case replace
        /// More exchanges after the existing ones.
        case append
    }

    public var path: String
    public var mode: RecordMode
    /// Whether recorded exchanges are replayed.
    public var replays: Bool
    public var target: Target
    /// Further members for the head of a new cassette, such as its match rules.
    public var headMembers: [UnknownMember] = []
    /// Names the fields of gRPC messages.
    public var schema: ProtoSchema?

    /// - Throws: `notFound` if the mode needs a cassette and there is none.
    public init(path: String, mode: RecordMode, exists: Bool) throws(CassetteError) {
        self.path = path
        self.mode = mode
        switch mode {
        case .none:
            guard exists else {
                throw CassetteError(
                    .notFound,
                    "there is no cassette \"\(path)\": record one with \"wiretape record \(path) -- COMMAND\".")
            }
            self.replays = true
            self.target = .nothing
        case .once:
            self.replays = exists
            self.target = exists ? .nothing : .create
        case .newEpisodes:
            self.replays = exists
            self.target = exists ? .append : .create
        case .all:
            self.replays = false
            self.target = exists ? .replace : .create
        case .passthrough:
            self.replays = false
            self.target = .nothing
        }
    }
}
