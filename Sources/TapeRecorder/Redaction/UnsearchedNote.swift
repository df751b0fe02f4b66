internal import CassetteModel

/// The part of a body's note that says that there was no time to search the body for secrets.
enum UnsearchedNote {
    /// `UnsearchedExchanges` counts exchanges by this text.
    static let text = "not searched for secrets, since the recording was closed before the search ended"

    static func isIn(_ note: String?) -> Bool { note?.contains(self.text) == true }

    static func add(to interaction: inout Interaction) {
        let (request, response) = (interaction.request.body?.note, interaction.response?.body?.note)
        interaction.request.body?.note = self.adding(to: request)
        interaction.response?.body?.note = self.adding(to: response)
    }

    private static func adding(to note: String?) -> String {
        guard let note else { return self.text }
        return self.isIn(note) ? note : "\(note); \(self.text)"
    }

    /// Removes the note from the bodies of an exchange that is now searched to the end.
    ///
    /// - Returns: whether the note was there.
    static func remove(from interaction: inout Interaction) -> Bool {
        let (request, response) = (interaction.request.body?.note, interaction.response?.body?.note)
        guard self.isIn(request) || self.isIn(response) else { return false }
        interaction.request.body?.note = self.removed(from: request)
        interaction.response?.body?.note = self.removed(from: response)
        return true
    }

    private static func removed(from note: String?) -> String? {
        let parts = note?.split(separator: "; ").filter { $0 != self.text } ?? []
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}
