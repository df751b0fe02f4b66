internal import CInspectorPage
internal import LocalHTTP
internal import TapeBytes

/// The files of the page, which are embedded in the binary.
enum PageFiles {
    /// What a page may load, and from where: only its own scripts and styles, images that it created itself, and the API.
    static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "worker-src 'self'", "img-src blob: data:",
        "frame-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
        "trusted-types inspector",
    ].joined(separator: "; ")

    /// Sent with every answer, because a recorded body that is served as an answer must never act as a page.
    static let protection = [
        "Content-Security-Policy: \(Self.policy)", "Cross-Origin-Opener-Policy: same-origin", "Cross-Origin-Resource-Policy: same-origin",
        "Referrer-Policy: no-referrer",
    ]

    private static let numbers: [String: Int] = {
        var numbers: [String: Int] = [:]
        while let path = inspector_file_at(numbers.count).pointee.path { numbers[String(cString: path)] = numbers.count }
        return numbers
    }()

    /// The joined modules for the first rows, which the page loads first, and the remaining modules, which it loads after those rows.
    static let scriptPath = "/page.js"
    static let restPath = "/rest.js"
    private static let firstModule = "/list/first.js"
    /// Scripts that are not modules of the page, because they run separately.
    private static let workers: Set<String> = ["/worker.js"]

    /// Created once. A module in an unsupported form is reported by the tests, and by the browser of whoever changes the page.
    static let scripts: (first: [UInt8], rest: [UInt8]) = {
        let paths = Self.paths.filter { $0.hasSuffix(".js") && !Self.workers.contains($0) }.sorted()
        let modules = paths.compactMap { path in Self.file(path).map { (path: path, text: String(decoding: $0.bytes, as: UTF8.self)) } }
        do {
            let script = try PageScript(modules, first: Self.firstModule, restPath: Self.restPath)
            return (Array(script.first.utf8), Array(script.rest.utf8))
        } catch {
            var writer = JSONWriter()
            writer.string("\(error)")
            return (Array("throw new Error(".utf8) + writer.bytes + Array(");\n".utf8), [])
        }
    }()

    static var paths: [String] { Array(Self.numbers.keys) }

    static func contains(_ path: String) -> Bool { ["/", Self.scriptPath, Self.restPath].contains(path) || self.numbers[path] != nil }

    /// nil if there is no such file.
    static func answer(_ path: String) -> LocalAnswer? {
        if path == Self.scriptPath || path == Self.restPath {
            let script = path == Self.scriptPath ? Self.scripts.first : Self.scripts.rest
            return LocalAnswer(status: 200, reason: "OK", type: "text/javascript; charset=utf-8", body: script)
        }
        guard let file = self.file(path == "/" ? "/index.html" : path) else { return nil }
        return LocalAnswer(status: 200, reason: "OK", type: file.type, body: Array(file.bytes))
    }

    static func file(_ path: String) -> (type: String, bytes: UnsafeBufferPointer<UInt8>)? {
        guard let number = self.numbers[path] else { return nil }
        let file = inspector_file_at(number).pointee
        return (String(cString: file.type), UnsafeBufferPointer(start: file.bytes, count: file.end - file.bytes))
    }
}
