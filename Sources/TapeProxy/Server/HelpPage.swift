/// What a person sees who opens the proxy's own address.
enum HelpPage {
    static func answer(address: String, method: String) -> ProxyAnswer {
        let text = """
            this is wiretape, a recording HTTP proxy. it is not a web site: programs send their requests through it.

              http_proxy=http://\(address) your-program
              curl -x http://\(address) http://example.com/

            a program that takes no proxy can ask for the URL in the path, also for https and without trusting anybody:

              curl http://\(address)/http://example.com/

            or let wiretape start the program: wiretape record FILE -- your-program
            """
        guard method == "GET" || method == "HEAD" else {
            return ProxyAnswer(status: 400, reason: "Bad Request", error: "origin-form", text: text)
        }
        return ProxyAnswer(status: 200, reason: "OK", text: text)
    }
}
