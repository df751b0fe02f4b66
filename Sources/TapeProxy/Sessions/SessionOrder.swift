public import CassetteStore
internal import TapeBytes

/// A request to open a session: which cassette, and how it is replayed and recorded.
public struct SessionOrder: Sendable, Hashable {
    /// Nil picks a free name.
    public var name: SessionName?
    /// The cassette's name in the server's folder.
    public var cassette: String
    public var mode: RecordMode
    /// Applied over those of all sessions, and over the cassette's own.
    public var settings: RunSettings
    /// Whether the session gets a port of its own, for clients that cannot send proxy credentials.
    public var wantsPort: Bool

    public init(
        name: SessionName? = nil, cassette: String, mode: RecordMode = .once, settings: RunSettings = RunSettings(),
        wantsPort: Bool = false
    ) {
        self.name = name
        self.cassette = cassette
        self.mode = mode
        self.settings = settings
        self.wantsPort = wantsPort
    }
}

/// Reads the body of `POST /sessions`: one JSON object.
enum SessionOrderReader {
    static let members = ["cassette", "mode", "name", "port"] + SessionSettingsReader.members

    /// Throws if "cassette" is missing.
    private static let modes: [RecordMode] = [.none, .once, .newEpisodes, .all]

    static func read(_ json: [UInt8]) throws(SessionError) -> SessionOrder {
        let document: JSONDocument
        do throws(JSONSyntaxError) {
            document = try JSONDocument(json)
        } catch {
            throw SessionError(
                .invalid, "the body is not JSON (line \(error.line): \(error.reason)): send an object, as {\"cassette\": \"pets.json\"}.",
                cause: error)
        }
        guard document.root.kind == .object else {
            throw SessionError(.invalid, "the body is not a JSON object: send one, such as {\"cassette\": \"pets.json\"}.")
        }
        let members = try OrderMembers(document.root, known: self.members)
        guard let cassette = try members.string("cassette") else {
            throw SessionError(.invalid, "\"cassette\" is missing: name a file in the folder, such as \"pets.json\".")
        }
        return SessionOrder(
            name: try self.name(members), cassette: cassette, mode: try members.choice("mode", self.modes) ?? .once,
            settings: try SessionSettingsReader(members: members).settings(), wantsPort: try members.bool("port") ?? false)
    }

    private static func name(_ members: OrderMembers) throws(SessionError) -> SessionName? {
        guard let text = try members.string("name") else { return nil }
        guard let name = SessionName(text) else {
            throw members.error(
                "name",
                "must have 1 to \(SessionName.limit) letters, digits, \"-\", \"_\" and \".\", and must not begin with \".\": correct it, or omit it to get one."
            )
        }
        return name
    }
}
