import Foundation
import TapeTestSupport

/// Other programs that write and read multipart bodies: those of Python, Node, curl and Chromium.
///
/// Python's packages are installed once from PyPI, into an environment next to the build; `python` is nil if that is not possible.
enum MultipartPrograms {
    static let python: String? = {
        let repository = URL(fileURLWithPath: #filePath).pathComponents.dropFirst().dropLast(5)
        let folder = "/" + repository.joined(separator: "/") + "/.build/python-multipart"
        let python = folder + "/bin/python"
        let imports = "import urllib3, requests, aiohttp, python_multipart, multipart, werkzeug"
        if (try? Self.run([python, "-c", imports])) != nil { return python }
        let packages =
            "'urllib3>=2,<3' 'requests>=2.31,<3' 'aiohttp>=3.12,<4' 'python-multipart>=0.0.20' 'multipart>=1.2,<3' 'werkzeug>=3,<4'"
        let install =
            "rm -rf \"$0\" && python3 -m venv \"$0\" && "
            + "\"$0/bin/pip\" install --quiet --disable-pip-version-check --retries 0 --timeout 20 \(packages)"
        _ = try? Self.run(["/bin/sh", "-c", install, folder])
        return (try? Self.run([python, "-c", imports])) != nil ? python : nil
    }()

    static let node = Self.find("node")
    static let curl = Self.find("curl")
    static let chromium = Self.find("chromium") ?? Self.find("chromium-browser") ?? Self.find("google-chrome")

    private static func find(_ name: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    struct Failure: Error {
        var status: Int32
        var errors: String
    }

    /// The program's output.
    static func run(_ command: [String], input: Data = Data()) throws -> Data {
        let folder = try TemporaryFolder()
        let paths = ["in", "out", "err"].map { folder.file($0) }
        for path in paths { try (path == paths[0] ? input : Data()).write(to: URL(fileURLWithPath: path)) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardInput = FileHandle(forReadingAtPath: paths[0])
        process.standardOutput = FileHandle(forWritingAtPath: paths[1])
        process.standardError = FileHandle(forWritingAtPath: paths[2])
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(
                status: process.terminationStatus,
                errors: String(decoding: try Data(contentsOf: URL(fileURLWithPath: paths[2])), as: UTF8.self))
        }
        return try Data(contentsOf: URL(fileURLWithPath: paths[1]))
    }
}
