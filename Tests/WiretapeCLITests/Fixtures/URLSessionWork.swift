// URLSession through http_proxy: URLSessionWork ORIGIN FOLDER. GETs, POSTs, uploads Data and a file, downloads to a file, follows a
// redirect, and sends two concurrent requests. Prints the results, one per line.
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@main
enum URLSessionWork {
    static func main() async {
        do {
            try await self.work(origin: CommandLine.arguments[1], folder: CommandLine.arguments[2])
        } catch {
            FileHandle.standardError.write(Data("URLSessionWork: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func work(origin: String, folder: String) async throws {
        let session = URLSession(configuration: .ephemeral)
        func request(_ method: String, _ path: String) throws -> URLRequest {
            guard let url = URL(string: origin + path) else { throw URLError(.badURL) }
            var request = URLRequest(url: url)
            request.httpMethod = method
            request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
            return request
        }
        func show(_ answer: (Data, URLResponse)) {
            let status = (answer.1 as? HTTPURLResponse)?.statusCode ?? 0
            print(status, String(decoding: answer.0, as: UTF8.self), terminator: "")
        }

        show(try await session.data(for: request("GET", "/get?q=1")))
        var post = try request("POST", "/post")
        post.httpBody = Data("이름=보리".utf8)
        show(try await session.data(for: post))
        show(try await session.upload(for: request("PUT", "/data"), from: Data(repeating: 0x61, count: 100_000)))
        let file = URL(fileURLWithPath: folder + "/upload.bin")
        try Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) }).write(to: file)
        show(try await session.upload(for: request("POST", "/file"), fromFile: file))

        let (place, response) = try await session.download(for: request("GET", "/download"))
        show((try Data(contentsOf: place), response))
        try? FileManager.default.removeItem(at: place)

        var made = try request("POST", "/made")
        made.httpBody = Data("x".utf8)
        show(try await session.data(for: made))

        async let one = session.data(for: request("GET", "/one"))
        async let two = session.data(for: request("GET", "/two"))
        for answer in try await [one, two] { show(answer) }
    }
}
