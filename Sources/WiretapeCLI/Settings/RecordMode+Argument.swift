public import ArgumentParser
public import CassetteStore

/// The modes that `run` can be told to take.
extension RecordMode: ExpressibleByArgument {
    static let forRuns: [RecordMode] = [.once, .newEpisodes, .all, .none]

    public init?(argument: String) {
        guard let mode = RecordMode(rawValue: argument), Self.forRuns.contains(mode) else { return nil }
        self = mode
    }

    public static var allValueStrings: [String] { self.forRuns.map(\.rawValue) }
}
