public import TapeBytes
public import CassetteModel
public import CassetteStore

/// Which file is read and which is written, for a record mode and what lies on the disk.
///
/// Touches no file.
public struct RecordingPlan: Sendable, Hashable {
    public enum Target: Sendable, Hashable {
        case nothing
        /// A new cassette under its own name.
        case create
        /// A new cassette beside the old one, taking its place on a clean close.
        case replace
        /// More exchanges behind those that are there.
        case append
    }

    public var path: String
    public var mode: RecordMode
    /// Whether recorded exchanges are replayed.
    public var replays: Bool
    public var target: Target
    /// Further members for the head of a cassette that is made, as its match rules.
    public var headMembers: [UnknownMember] = []

    /// - Throws: `notFound` where the mode needs a cassette and there is none.
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
