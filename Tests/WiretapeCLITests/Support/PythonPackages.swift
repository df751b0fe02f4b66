import Foundation

/// Python's third-party HTTP clients and servers, in their own environment: installed once from PyPI, and kept next to the build.
enum PythonPackages {
    private static let folder = Programs.repository + "/.build/python-clients"

    /// The Python that has them; nil if they are missing and PyPI cannot be reached.
    static let python: String? = {
        let python = Self.folder + "/bin/python"
        if Self.works(python) { return python }
        let script = """
            rm -rf "$0" && python3 -m venv "$0" &&
            "$0/bin/pip" install --quiet --disable-pip-version-check --retries 0 --timeout 20 'requests>=2.31,<3' 'httpx[http2]>=0.27,<1' 'grpcio>=1.60,<2' 'websockets>=15' 'hypercorn>=0.16,<1' 'aiohttp>=3.9,<4'
            """
        // With the whole environment, which may say how to reach PyPI.
        let end = try? ExternalProgram.run(
            "/bin/sh", ["-c", script, Self.folder], environment: ProcessInfo.processInfo.environment, seconds: 180)
        return end?.status == 0 && Self.works(python) ? python : nil
    }()

    private static func works(_ python: String) -> Bool {
        guard FileManager.default.isExecutableFile(atPath: python) else { return false }
        return (try? ExternalProgram.run(python, ["-c", "import requests, httpx, h2, grpc, websockets, hypercorn, aiohttp"]).status) == 0
    }
}
