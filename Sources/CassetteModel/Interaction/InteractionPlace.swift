/// Where an interaction lies, for the messages of errors.
public struct InteractionPlace: Sendable, Hashable {
    /// Path of the cassette as the user gave it.
    public var file: String?
    /// Counts from 1.
    public var interaction: Int?
    /// The line of the file on which the interaction's text begins, from 1.
    public var line: Int

    public init(file: String? = nil, interaction: Int? = nil, line: Int = 1) {
        self.file = file
        self.interaction = interaction
        self.line = line
    }

    /// An error at a line counted within the interaction's text.
    package func error(_ code: CassetteError.Code, line: Int, member: String, _ problem: String) -> CassetteError {
        let file = self.file.map { "'\($0)' " } ?? ""
        let interaction = self.interaction.map { "interaction \($0): " } ?? ""
        let member = member.isEmpty ? "" : "\(member): "
        return CassetteError(
            code,
            "\(file)line \(self.line + line - 1): \(interaction)\(member)\(problem); correct that line or restore the file from a copy")
    }
}
