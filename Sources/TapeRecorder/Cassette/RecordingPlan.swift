public import CassetteModel
internal import CassetteRedaction
public import CassetteStore
public import TapeBytes

/// Which file is read and which is written in a record mode.
///
/// Does not access files.
public struct RecordingPlan: Sendable, Hashable {
    public enum Target: Sendable, Hashable {
        case nothing
        /// A new cassette under its own name.
        case create
        /// A new cassette that gets its name when it is closed, so that a file with that name is always complete.
        case stage
        /// A new cassette next to the old one, which it replaces on a clean close.
        case replace
        /// More exchanges after the existing ones.
        case append
    }

    public var path: String
    public var mode: RecordMode
    /// Whether recorded exchanges are replayed.
    public var replays: Bool
    public var target: Target
    /// Additional members for the head of a new cassette, such as its match rules.
    public var headMembers: [UnknownMember] = []
    /// Files that a new cassette is made from: it is readable by nobody who may not read all of them.
    public var sources: [String] = []
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
