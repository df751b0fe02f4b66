import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A real nginx as origin, on a free port, with its files in a folder of its own.
final class Nginx {
    let port: Int
    /// What it serves.
    let folder: TemporaryFolder
    private let program: ExternalProgram

    init() throws {
        self.folder = try TemporaryFolder()
        var generator = SystemRandomNumberGenerator()
        let large = (0..<(10 << 20) / 8).flatMap { _ in withUnsafeBytes(of: generator.next()) { Array($0) } }
        try self.folder.write(large, to: "site/large.bin")
        try self.folder.write(Self.pets.utf8, to: "site/pets.json")
        try self.folder.write(Array(0...255), to: "site/octets.bin")
        try self.folder.write(String(repeating: "a line of text, again and again\n", count: 2000).utf8, to: "site/log.txt")
        try FileManager.default.createDirectory(atPath: self.folder.file("logs"), withIntermediateDirectories: false)

        let nginx = try Programs.find("nginx")
        // Between the choice of a port and nginx's bind another process may take it.
        for attempt in 1...5 {
            let ports = try (Self.freePort(), Self.freePort())
            try self.folder.write(Self.configuration(folder: self.folder.path, port: ports.0, inner: ports.1).utf8, to: "nginx.conf")
            let arguments = ["-p", self.folder.path, "-c", self.folder.file("nginx.conf"), "-e", self.folder.file("logs/error.log")]
            let program = try ExternalProgram(nginx, arguments)
            let answers = try? Deadline.wait(for: "nginx", seconds: 20) {
                if program.hasEnded { throw TestProblem("nginx ended") }
                return try? RawClient.exchange(port: ports.0, Array("GET /pets.json HTTP/1.0\r\n\r\n".utf8))
            }
            if answers != nil {
                self.port = ports.0
                self.program = program
                return
            }
            let errors = program.errors
            program.stop()
            guard attempt < 5 else { throw TestProblem("nginx does not start: \(errors)") }
        }
        throw TestProblem("nginx does not start")
    }

    func stop() { self.program.stop() }

    func url(_ path: String) -> String { "http://127.0.0.1:\(self.port)/\(path)" }

    static let pets = """
        {"pets": [{"name": "보리", "weight": 1.50e1}, {"name": "초코", "weight": null}], "note": "\(String(repeating: "wuff ", count: 200))"}

        """

    private static func configuration(folder: String, port: Int, inner: Int) -> String {
        """
        daemon off;
        worker_processes 1;
        pid \(folder)/nginx.pid;
        error_log \(folder)/logs/error.log;
        \(geteuid() == 0 ? "user root;" : "")
        events { worker_connections 256; }
        http {
            access_log off;
            types { application/json json; text/plain txt; application/octet-stream bin; }
            client_body_temp_path \(folder)/body;
            proxy_temp_path \(folder)/proxy;
            fastcgi_temp_path \(folder)/fastcgi;
            uwsgi_temp_path \(folder)/uwsgi;
            scgi_temp_path \(folder)/scgi;
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
        }
        """
    }

    private static func freePort() throws -> Int {
        #if canImport(Glibc)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0 }
        }
        guard bound else { throw TestProblem("no free port (\(String(cString: strerror(errno))))") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
