public import CassetteModel
internal import Platform
public import TapeBytes

/// The file in which the processes of a test run list the cassettes they open. Each line is a JSON object with "cassette", and "test" if it
/// is known.
///
/// Shows which cassettes are no longer opened by anything: the client, the proxy, or a command that a test runs. A missing entry is not
/// proof; `swift package wiretape prune` decides.
public enum OpenedCassettes {
    /// The variable that names the file.
    public static let variable = "WIRETAPE_USED_CASSETTES"

    /// Nil if nothing is listed. Read once, as processes do not change it.
    private static let list = getenv(Self.variable).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }

    /// Lists a cassette that is being opened, if the environment asks for it.
    public static func report(_ path: String) throws(CassetteError) {
        guard let list else { return }
        try self.add(path, to: list)
    }

    /// - Parameter test: for example "ShopTests.Pets/list()"; nil if it is unknown.
    public static func add(_ path: String, of test: String? = nil, to list: String) throws(CassetteError) {
        var line = JSONWriter()
        line.raw("{\"cassette\":")
        line.string(self.absolute(path))
        if let test {
            line.raw(",\"test\":")
            line.string(test)
        }
        line.raw("}\n")
        let file = open(list, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        // One write per line, as other processes also append to the file.
        let written = file < 0 ? -1 : line.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        if file >= 0 { close(file) }
        guard written == line.count else {
            throw CassetteError(
                .unwritable,
                "\(self.variable) names \"\(list)\", which cannot be written: name a file in a folder that exists, or unset it")
        }
    }

    /// Commands run by a test may have another working directory.
    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        guard let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return "\(String(cString: folder))/\(path)"
    }
}
