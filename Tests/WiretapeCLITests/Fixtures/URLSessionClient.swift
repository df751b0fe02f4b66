// Plain URLSession: URLSessionClient URL... Writes the bodies to standard output, one after another.
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@main
enum URLSessionClient {
    static func main() async {
        do {
            for text in CommandLine.arguments.dropFirst() {
                guard let url = URL(string: text) else { exit(64) }
                FileHandle.standardOutput.write(try await URLSession.shared.data(from: url).0)
            }
        } catch {
            FileHandle.standardError.write(Data("\(error.localizedDescription)\n".utf8))
            exit(1)
        }
    }
}
