"""Programs of frameworks that repeat themselves, which --steady was not tuned to: repeats.py KIND [STEPS].
KIND is generate, gradients or autotune. The last line of standard output is the result."""
import sys
import warnings

warnings.simplefilter("ignore")


def generate():
    """Hugging Face's Llama with random weights: a token after another."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=4096, hidden_size=512, intermediate_size=1376, num_hidden_layers=4, num_attention_heads=8,
        num_key_value_heads=4, max_position_embeddings=512,
    )
    model = LlamaForCausalLM(config).cuda().to(torch.bfloat16).eval()
    prompt = torch.randint(0, 4096, (2, 32), device="cuda")
    with torch.no_grad():
        tokens = model.generate(prompt, do_sample=False, max_new_tokens=400, pad_token_id=0)
    return tokens[:, -24:].sum().item()


def gradients():
    """Conjugate gradients in CuPy."""
    import cupy

    cupy.random.seed(7)
    matrix = cupy.random.random((1500, 1500))
    matrix = matrix @ matrix.T + 1500 * cupy.eye(1500)
    right = cupy.random.random(1500)
    x = cupy.zeros(1500)
    rest = right - matrix @ x
    way = rest.copy()
    size = rest @ rest
    for _ in range(6000):
        moved = matrix @ way
        step = size / (way @ moved + 1e-300)
        x = x + step * way
        rest = rest - step * moved
        before, size = size, rest @ rest
        way = rest + size / (before + 1e-300) * way
    return f"{float(cupy.abs(x).sum()):.6f}"


def autotune():
    """Training whose kernels the compiler chooses by their times."""
    import torch

    torch.manual_seed(0)
    layers = [torch.nn.Linear(512, 2048), torch.nn.GELU(), torch.nn.LayerNorm(2048), torch.nn.Linear(2048, 512)]
    model = torch.nn.Sequential(*layers).cuda()
    compiled = torch.compile(model, mode="max-autotune-no-cudagraphs")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(256, 512, device="cuda"), torch.randn(256, 512, device="cuda")
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 3000):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(compiled(x), y)
        loss.backward()
        optimizer.step()
    return f"{loss.item():.4f}"


print(sys.argv[1], {"generate": generate, "gradients": gradients, "autotune": autotune}[sys.argv[1]]())
