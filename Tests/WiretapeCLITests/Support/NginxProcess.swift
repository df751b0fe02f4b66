import Foundation
import Platform
import TapeTestSupport

/// A running nginx with the caller's servers on free ports; it ends with its owner at the latest.
///
/// Does not know the purpose of the servers.
final class NginxProcess {
    let ports: [Int]
    private let program: ExternalProgram

    /// - Parameters:
    ///   - folder: the place of the configuration, logs and temporary files.
    ///   - servers: the `server` blocks for the given ports.
    init(folder: TemporaryFolder, ports count: Int, servers: ([Int]) -> String) throws {
        let nginx = try Programs.find("nginx")
        try FileManager.default.createDirectory(atPath: folder.file("logs"), withIntermediateDirectories: false)
        // Another process may take a port between its choice and nginx's bind.
        for attempt in 1...5 {
            let ports = try FreePorts.take(count)
            try folder.write(Self.configuration(folder: folder.path, servers: servers(ports)).utf8, to: "nginx.conf")
            let arguments = ["-p", folder.path, "-c", folder.file("nginx.conf"), "-e", folder.file("logs/error.log")]
            let program = try ExternalProgram(nginx, arguments)
            let answers = try? Deadline.wait(for: "nginx") {
                if program.hasEnded { throw TestProblem("nginx ended") }
                // A TLS port answers this too, with a 400.
                return try? RawClient.exchange(port: ports[0], Array("GET /pets.json HTTP/1.0\r\n\r\n".utf8))
            }
            if answers != nil {
                self.ports = ports
                self.program = program
                return
            }
            let errors = program.errors
            program.stop()
            guard attempt < 5 else { throw TestProblem("nginx does not start: \(errors)") }
        }
        throw TestProblem("nginx does not start")
    }

    deinit { self.stop() }

    func stop() { self.program.stop() }

    private static func configuration(folder: String, servers: String) -> String {
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
            \(servers)
        }
        """
    }
}

/// Ports of 127.0.0.1 for programs that get theirs as an argument.
enum FreePorts {
    /// Different ports: all are bound before the first is released.
    static func take(_ count: Int) throws -> [Int] {
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        return try (0..<count).map { _ in
            let descriptor = socket(AF_INET, streamSocket, 0)
            descriptors.append(descriptor)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let bound = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
                }
            }
            guard bound else { throw TestProblem("no free port (\(String(cString: strerror(errno))))") }
            return Int(UInt16(bigEndian: address.sin_port))
        }
    }
}
