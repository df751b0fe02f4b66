public import CassetteStore
internal import TapeBytes

/// A request to open a session: the cassette, and how it is replayed and recorded.
public struct SessionOrder: Sendable, Hashable {
    /// nil picks a free name.
    public var name: SessionName?
    /// The cassette's name in the server's folder.
    public var cassette: String
    public var mode: RecordMode
    /// Applied over those of all sessions and over the cassette's own.
    public var settings: RunSettings
    /// Whether the session gets its own port, for clients that cannot send proxy credentials.
    public var wantsPort: Bool
    /// Free text that names the session for people, such as the full name of a test; nil shows the session's own name.
    public var label: String?
    /// Whether missing folders in the cassette's name are created.
    public var makesFolders = false
    /// The process that owns the session. Once it has ended, the session is ended as after a failed test; nil lets the session stay open.
    public var owner: ProcessIdentity?

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
    static let members = ["cassette", "mode", "name", "port", "label", "folders", "owner"] + SessionSettingsReader.members

    /// In bytes: more than the names of parametrized tests need.
    static let labelLimit = 1024

    /// The modes that an order may have.
    private static let modes: [RecordMode] = [.none, .once, .newEpisodes, .all]

    static func read(_ json: [UInt8]) throws(SessionError) -> SessionOrder {
        let document: JSONDocument
        do throws(JSONSyntaxError) {
            document = try JSONDocument(json)
        } catch {
            throw SessionError(
                .invalid, "the body is not JSON (line \(error.line): \(error.reason)): send an object like {\"cassette\": \"pets.json\"}.",
                cause: error)
        }
        guard document.root.kind == .object else {
            throw SessionError(.invalid, "the body is not a JSON object: send an object like {\"cassette\": \"pets.json\"}.")
        }
        let members = try OrderMembers(document.root, known: self.members)
        guard let cassette = try members.string("cassette") else {
            throw SessionError(.invalid, "\"cassette\" is missing: name a file in the folder, such as \"pets.json\".")
        }
        var order = SessionOrder(
            name: try self.name(members), cassette: cassette, mode: try members.choice("mode", self.modes) ?? .once,
            settings: try SessionSettingsReader(members: members).settings(), wantsPort: try members.bool("port") ?? false)
        order.label = try self.label(members)
        order.makesFolders = try members.bool("folders") ?? false
        order.owner = try self.owner(members)
        return order
    }

    private static func label(_ members: OrderMembers) throws(SessionError) -> String? {
        guard let text = try members.string("label") else { return nil }
        guard (1...self.labelLimit).contains(text.utf8.count) else {
            throw members.error("label", "must have 1 to \(self.labelLimit) bytes: shorten it, or omit it.")
        }
        return text
    }

    private static func owner(_ members: OrderMembers) throws(SessionError) -> ProcessIdentity? {
        guard let value = members.value("owner") else { return nil }
        guard let number = value.int, let id = Int32(exactly: number), id > 0 else {
            throw members.error("owner", "is not a process ID: pass the client's own process ID, or omit it.")
        }
        guard let owner = ProcessIdentity(id) else {
            throw members.error(
                "owner", "is \(id), and there is no such process here: pass the client's own process ID, or omit it.")
        }
        return owner
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
