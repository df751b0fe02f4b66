internal import CInspectorPage
internal import LocalHTTP

/// The files of the page, which are part of the binary.
enum PageFiles {
    /// What a page may load, and from where: nothing but its own scripts and styles, images that it made itself, and the API.
    static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "worker-src 'self'", "img-src blob: data:",
        "frame-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
        "trusted-types inspector",
    ].joined(separator: "; ")

    /// On every answer: a recorded body that is served as an answer must never become a page.
    static let protection = [
        "Content-Security-Policy: \(Self.policy)", "Cross-Origin-Opener-Policy: same-origin", "Cross-Origin-Resource-Policy: same-origin",
        "Referrer-Policy: no-referrer",
    ]

    private static let numbers: [String: Int] = {
        var numbers: [String: Int] = [:]
        while let path = inspector_file_at(numbers.count).pointee.path { numbers[String(cString: path)] = numbers.count }
        return numbers
    }()

    static var paths: [String] { Array(Self.numbers.keys) }

    static func contains(_ path: String) -> Bool { path == "/" || self.numbers[path] != nil }

    /// Nil if there is no such file.
    static func answer(_ path: String) -> LocalAnswer? {
        guard let number = self.numbers[path == "/" ? "/index.html" : path] else { return nil }
        let file = inspector_file_at(number).pointee
        let bytes = UnsafeBufferPointer(start: file.bytes, count: file.end - file.bytes)
        return LocalAnswer(status: 200, reason: "OK", type: String(cString: file.type), body: Array(bytes))
    }
}
