internal import CassetteStore
internal import TapeBytes

/// Reads the body of `POST /sessions`: one JSON object.
enum SessionOrderReader {
    static let members = ["cassette", "mode", "name", "port"] + SessionSettingsReader.members

    /// A session without a cassette to it is none.
    private static let modes: [RecordMode] = [.none, .once, .newEpisodes, .all]

    static func read(_ json: [UInt8]) throws(SessionError) -> SessionOrder {
        let document: JSONDocument
        do throws(JSONSyntaxError) {
            document = try JSONDocument(json)
        } catch {
            throw SessionError(
                .invalid, "the body is not JSON (line \(error.line): \(error.reason)): send an object, as {\"cassette\": \"pets.json\"}.")
        }
        guard document.root.kind == .object else {
            throw SessionError(.invalid, "the body is no JSON object: send one, as {\"cassette\": \"pets.json\"}.")
        }
        let members = try OrderMembers(document.root, known: self.members)
        guard let cassette = try members.string("cassette") else {
            throw SessionError(.invalid, "\"cassette\" is missing: name a file of the folder, as \"pets.json\".")
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
                "is not 1 to \(SessionName.limit) letters, digits, \"-\", \"_\" and \".\", the last not in front: leave it out to get one.")
        }
        return name
    }
}
