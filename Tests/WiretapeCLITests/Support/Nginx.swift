import Foundation
import TapeTestSupport

/// A real nginx as origin, on a free port, with its files in its own folder.
final class Nginx {
    let port: Int
    /// The served files.
    let folder: TemporaryFolder
    private let process: NginxProcess

    init() throws {
        self.folder = try TemporaryFolder()
        var generator = SystemRandomNumberGenerator()
        let large = (0..<(10 << 20) / 8).flatMap { _ in withUnsafeBytes(of: generator.next()) { Array($0) } }
        try self.folder.write(large, to: "site/large.bin")
        try self.folder.write(Self.pets.utf8, to: "site/pets.json")
        try self.folder.write(Array(0...255), to: "site/bytes.bin")
        try self.folder.write(String(repeating: "a line of text, again and again\n", count: 2000).utf8, to: "site/log.txt")
        let folder = self.folder.path
        self.process = try NginxProcess(folder: self.folder, ports: 2) { ports in
            Self.servers(folder: folder, port: ports[0], inner: ports[1])
        }
        self.port = self.process.ports[0]
    }

    func stop() { self.process.stop() }

    func url(_ path: String) -> String { "http://127.0.0.1:\(self.port)/\(path)" }

    static let pets = """
        {"pets": [{"name": "보리", "weight": 1.50e1}, {"name": "초코", "weight": null}], "note": "\(String(repeating: "wuff ", count: 200))"}

        """

    private static func servers(folder: String, port: Int, inner: Int) -> String {
        """
        server {
            listen 127.0.0.1:\(inner);
            location /page { return 200 "from behind\\n"; }
            location / { root \(folder)/site; gzip on; gzip_types *; gzip_min_length 1; }
        }
        server {
            listen 127.0.0.1:\(port);
            root \(folder)/site;
            gzip on;
            gzip_types application/json text/plain;
            gzip_comp_level 5;
            location /old { return 301 /pets.json; }
            location /chunked/ { proxy_pass http://127.0.0.1:\(inner)/; proxy_http_version 1.1; proxy_set_header Accept-Encoding gzip; }
            location /teapot { add_header X-Kind "short and stout" always; return 418 "no coffee\\n"; }
        }
        """
    }
}
